/* The request goes to the wrong channel. */
chan left = [1] of { byte };
chan right = [1] of { byte };
byte who;

active proctype client() { left!1; left!2 }
active proctype server() { left?who; right?who; assert(who < 3) }
