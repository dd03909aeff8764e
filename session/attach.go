package session

func (c *controller) serveFronts() error { return nil }
