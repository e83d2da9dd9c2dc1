/* Gets a channel to answer on, and does not answer. */
chan ask = [1] of { byte };
chan answer = [1] of { byte };

proctype server(chan in, out) { in?_ }

init { run server(ask, answer); ask!1; answer?_; answer!1 }
