package main

func writePage(dir, page string) error { return nil }
