bool p;
ctl safe { AG p }
ctl safe { EF p }
init { p = true }
