/* A channel variable is not yet a channel. */
chan line;
chan phone = [1] of { byte };

active proctype caller() { phone!1; line!1 }
active proctype callee() { phone?_; line?_ }
