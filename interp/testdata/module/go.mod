module example.com/shop

go 1.26

require example.org/unit v1.0.0
