//
typedef inner { byte n[2] };
typedef outer { inner i[2]; bool ok };
outer o;
active proctype a() { o.i[1].n[0] == 4 || o.ok }
active proctype b() { byte k; k == 1 -> o.i[1].n[k] = 1; o.i[k].n[0] = 4 }
