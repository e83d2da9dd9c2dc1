/* A post office: every kind of message and every kind of step that a story or a chart has to show. */

mtype = { letter, parcel };

chan counter = [0] of { mtype, byte };
chan shelf = [3] of { byte };
chan own = [1] of { byte };

typedef Book { byte sold; bool open };
Book book;
byte weights[3];

proctype courier(byte limit)
{
	chan bag = [2] of { byte };
	byte item;

	shelf?item;
	bag!item;
	shelf??3;
	printf("the courier takes %d and 3\n", item)
}

active proctype clerk()
{
	mtype kind;
	byte weight, i;

	atomic {
		book.open = true;
		for (i : 0 .. 1) {
			weights[i] = i + 1
		}
	}
	do
	:: book.sold < 3 ->
	   counter?kind, weight;
	   d_step { shelf!!weight; book.sold++ }
	:: else -> break
	od;
	own!7;
	own?<weight>;
	own?weight;
	run courier(9);
	weights[2] = 300;
	assert(weights[2] == 300)
}

active proctype customer()
{
	counter!letter, 3;
	counter!parcel, 2;
	counter!parcel, 5
}
