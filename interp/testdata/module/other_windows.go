package main

func count() string { return "this file is for another machine" }
