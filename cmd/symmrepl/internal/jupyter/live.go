package jupyter

import "context"

// Live implements console.LivePrinter: the text is a display that is updated. A text console gets
// only the first text, because it shows no updates.
func (s *screen) Live(run func(ctx context.Context, show func(text string))) {
	ctx, cancel := context.WithCancel(context.Background())
	forget := s.k.addLive(cancel)
	s.CatchUp()
	id, begun, first := newID(), make(chan struct{}), true
	go func() {
		defer forget()
		run(ctx, func(text string) {
			if s.Console && !first {
				return
			}
			kind := "update_display_data"
			if first {
				kind = "display_data"
			}
			s.publish(kind, content{"data": content{"text/plain": text}, "metadata": content{}, "transient": content{"display_id": id}})
			if first {
				first = false
				close(begun)
			}
			if s.Console {
				cancel()
			}
		})
		if first {
			close(begun)
		}
	}()
	<-begun // the display belongs to the entry
}

// addLive adds a text that changes until end is called. The caller calls forget when it has ended.
func (k *Kernel) addLive(end context.CancelFunc) (forget func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lives == nil {
		k.lives = map[int]context.CancelFunc{}
	}
	k.live++
	number := k.live
	k.lives[number] = end
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.lives, number)
		end()
	}
}

// endLives ends all texts that change. k.mu is held.
func (k *Kernel) endLives() {
	for _, end := range k.lives {
		end()
	}
}
