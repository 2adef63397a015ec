"""The scheduler of `muster up` from outside: plain REST requests, and checkers of their own for what it did."""
