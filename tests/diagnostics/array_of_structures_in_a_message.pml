typedef Point { int x };
typedef Line { Point end[2] };
chan c = [1] of { Line };
init { skip }
