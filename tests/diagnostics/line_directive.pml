#line here
init { skip }
