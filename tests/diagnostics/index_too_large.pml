/* The last element of fork[3] is fork[2]. */
#define N 3
bit fork[N];

active proctype philosopher() {
    atomic { !fork[0] -> fork[0] = 1 };
    atomic { !fork[N] -> fork[N] = 1 }
}
