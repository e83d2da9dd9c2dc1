chan c = [1] of { unsigned };
byte:small x;
init { skip }
