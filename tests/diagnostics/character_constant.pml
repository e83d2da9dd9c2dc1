byte c;
init { c = 'ab'; c = '' }
