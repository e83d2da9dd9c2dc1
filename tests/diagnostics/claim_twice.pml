bool p;
never safe { true }
never safe { p }
init { p = true }
