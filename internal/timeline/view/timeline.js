// Draws the timelines of a page: each element of class symm-timeline has its drawing as JSON and a
// still picture, which the interactive one replaces. Texts come from ranks: they go to textContent
// and to attributes of text only, never into HTML.
(() => {
	"use strict"
	const SVG = "http://www.w3.org/2000/svg"
	const LEFT = 170, RIGHT = 14, AXIS = 24, BAR = 14, PART = 8, GAP = 5
	const INK = "var(--jp-ui-font-color1, currentColor)"
	const NARROWEST = 40 // nanoseconds that fill a picture

	const element = (name, attributes, parent, text) => {
		const e = document.createElementNS(SVG, name)
		for (const key in attributes) e.setAttribute(key, attributes[key])
		if (text !== undefined) e.textContent = text
		if (parent) parent.appendChild(e)
		return e
	}
	const block = (name, style, parent, text) => {
		const e = document.createElement(name)
		e.style.cssText = style
		if (text !== undefined) e.textContent = text
		parent.appendChild(e)
		return e
	}
	const short = ns => {
		const [unit, name] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : [1e3, "µs"]
		const v = ns / unit
		return ns === 0 ? "0" : `${v.toFixed(v < 9.995 ? 2 : v < 99.95 ? 1 : 0)} ${name}`
	}
	const stepOf = (span, n) => {
		for (let power = 1; ; power *= 10)
			for (const by of [1, 2, 5])
				if (span / (by * power) < n) return by * power
	}
	const tick = (at, largest, step) => {
		const [unit, name] = largest >= 1e9 ? [1e9, "s"] : largest >= 1e6 ? [1e6, "ms"] : largest >= 1e3 ? [1e3, "µs"] : [1, "ns"]
		return `${(at / unit).toFixed(Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9)))} ${name}`
	}
	const fit = (name, width) => {
		const letters = Array.from(name), n = Math.floor((width - 6) / 6.2)
		return n >= letters.length ? name : n >= 4 ? letters.slice(0, n - 1).join("") + "…" : ""
	}

	const live = root => {
		const d = JSON.parse(root.querySelector('script[type="application/json"]').textContent)
		const marks = d.marks.map(m => ({ row: m[0], lane: m[1], shape: m[2], begin: m[3], took: m[4], end: m[3] + m[4], name: m[5], kind: m[6], detail: m[7], at: m[8] }))
		const text = i => d.texts[i]
		const colour = m => m.shape === 2 ? d.waits : d.colours[m.name % d.colours.length]

		root.dataset.live = "1"
		root.replaceChildren()
		root.style.cssText = `position:relative;color:${INK};font:11px var(--jp-ui-font-family, sans-serif)`
		const bar = block("div", "display:flex;gap:6px;align-items:center;margin-bottom:4px", root)
		const button = (label, title, f) => {
			const b = block("button", "min-width:2.2em;color:inherit;background:transparent;border:1px solid var(--jp-border-color1, #808080);border-radius:3px;cursor:pointer", bar, label)
			b.type = "button"
			b.title = title
			b.addEventListener("click", f)
		}
		button("+", "zoom in", () => zoom(0.5))
		button("−", "zoom out", () => zoom(2))
		button("all", "show all", () => show(0, d.took))
		block("span", "opacity:.75", bar, "drag to move; Ctrl and the wheel, or a double click, to zoom; keys + − 0 ← →")

		// The rows, and where they begin.
		let y = AXIS
		const rows = d.rows.map(r => {
			const row = { label: text(r[0]), first: r[1] === 1, top: y, lane: r[3] ? BAR + PART + 2 : BAR + 2 }
			y += r[2] * row.lane + GAP
			return row
		})
		const height = y
		const place = m => {
			const top = rows[m.row].top + m.lane * rows[m.row].lane
			return m.shape === 0 ? [top, BAR] : [top + BAR, PART]
		}

		const svg = element("svg", { height, tabindex: 0, role: "img", "data-lm-suppress-shortcuts": "true", "font-size": 11, fill: "currentColor",
			"aria-label": `timeline of ${d.ranks} ranks, ${short(d.took)}` }, root)
		svg.style.cssText = "display:block;width:100%;cursor:grab;touch-action:pan-y;user-select:none"
		const tip = block("div", "position:absolute;z-index:9;display:none;pointer-events:none;white-space:pre;padding:4px 6px;border:1px solid var(--jp-border-color1, #808080);" +
			"background:var(--jp-layout-color1, Canvas);color:var(--jp-ui-font-color1, CanvasText)", root)
		tip.className = "symm-tip"
		const legend = block("div", "display:flex;flex-wrap:wrap;gap:2px 14px;margin:4px 0 0 " + LEFT + "px", root)
		const entry = (paint, words) => {
			const e = block("span", "white-space:nowrap", legend)
			if (paint) block("span", `display:inline-block;width:10px;height:10px;margin-right:4px;background:${paint}`, e)
			block("span", "", e, words)
		}
		entry(d.waits, "waits")
		d.texts.slice(0, Math.min(d.names, 24)).forEach((name, i) => entry(d.colours[i % d.colours.length], fit(name, 300)))
		if (d.names > 24) entry("", `and ${d.names - 24} others`)
		if (d.more) entry("", `${d.more} shorter ones are not shown`)

		let width = 960, from = 0, to = d.took, over = -1, planned = false
		const inner = () => width - LEFT - RIGHT
		const x = at => LEFT + inner() * (at - from) / (to - from)
		const time = px => from + (to - from) * (px - LEFT) / inner()

		const draw = () => {
			planned = false
			svg.replaceChildren()
			svg.setAttribute("viewBox", `0 0 ${width} ${height}`)
			root.dataset.from = from
			root.dataset.to = to
			const step = stepOf(to - from, Math.max(2, inner() / 100))
			for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
				element("path", { d: `M${x(at)} ${AXIS - 6}V${height}`, stroke: "currentColor", opacity: 0.15 }, svg)
				element("text", { x: x(at), y: AXIS - 10, "text-anchor": "middle" }, svg, tick(at, to, step))
			}
			rows.forEach((r, i) => {
				if (r.first && i) element("path", { d: `M0 ${r.top - GAP / 2}H${width}`, stroke: "currentColor", opacity: 0.3 }, svg)
				element("text", { x: 6, y: r.top + 11 }, svg, r.label)
			})
			const reached = new Map()
			marks.forEach((m, i) => {
				if (m.end < from || m.begin > to) return
				const lane = (m.row * 1000 + m.lane) * 3 + m.shape
				const end = Math.min(x(m.end), width - RIGHT), begin = Math.min(Math.max(x(m.begin), LEFT), end)
				if (end < (reached.get(lane) ?? 0)) return
				const w = Math.max(end - begin, 0.8), [top, high] = place(m)
				reached.set(lane, begin + w)
				element("rect", { x: begin, y: top, width: w, height: high, fill: colour(m), "data-mark": i }, svg)
				const words = m.shape === 0 ? fit(text(m.name), w) : ""
				if (words) element("text", { x: begin + 3, y: top + 11, fill: "#ffffff", "pointer-events": "none" }, svg, words)
			})
			drawArrows()
		}
		const drawArrows = () => {
			svg.querySelectorAll("g").forEach(g => g.remove())
			const g = element("g", { "pointer-events": "none" }, svg)
			const seen = new Set()
			for (const [a, b, likely] of d.arrows) {
				const m = marks[a], n = marks[b], at = Math.min(m.end, Math.max(m.begin, n.end))
				if (Math.max(at, n.end) < from || Math.min(at, n.end) > to) continue
				const on = over === a || over === b
				const [y1, h1] = place(m), [y2, h2] = place(n)
				const x1 = Math.min(Math.max(x(at), LEFT), width - RIGHT), x2 = Math.min(Math.max(x(n.end), LEFT), width - RIGHT)
				const key = [x1 | 0, y1, x2 | 0, y2].join()
				if (seen.has(key) && !on) continue
				seen.add(key)
				const start = y1 + h1 / 2, below = y1 > y2, end = below ? y2 + h2 : y2, middle = (start + end) / 2
				const opacity = on ? 1 : over < 0 ? 0.7 : 0.25
				const path = element("path", { d: `M${x1} ${start}C${x1} ${middle} ${x2} ${middle} ${x2} ${end}`, fill: "none", stroke: "currentColor", "stroke-width": on ? 2 : 1, opacity, "data-arrow": `${a} ${b}` }, g)
				if (likely) path.setAttribute("stroke-dasharray", "3 2")
				element("path", { d: `M${x2} ${end}l-3 ${below ? 5 : -5}h6z`, opacity }, g)
			}
		}
		const plan = () => {
			if (planned) return
			planned = true
			requestAnimationFrame(draw)
		}
		const show = (a, b) => {
			const span = Math.min(Math.max(b - a, NARROWEST), d.took)
			from = Math.min(Math.max(a, 0), d.took - span)
			to = from + span
			hide()
			plan()
		}
		const zoom = (by, at = (from + to) / 2) => show(at - (at - from) * by, at + (to - at) * by)
		const hide = () => {
			tip.style.display = "none"
			if (over < 0) return
			over = -1
			drawArrows()
		}

		const pointer = event => { // of the pointer, in the picture's pixels
			const box = svg.getBoundingClientRect()
			return [(event.clientX - box.left) * width / box.width, event.clientY - box.top]
		}
		const hover = event => {
			const i = event.target.dataset && event.target.dataset.mark
			if (i === undefined) return hide()
			const m = marks[i], lines = [text(m.name) + (m.name === m.kind ? "" : ` (${text(m.kind)})`)]
			if (text(m.detail)) lines.push(text(m.detail))
			if (text(m.at)) lines.push(`at ${text(m.at)}`)
			lines.push(rows[m.row].label, `${short(m.took)} from ${short(m.begin)} to ${short(m.end)}`)
			tip.textContent = lines.join("\n")
			tip.style.display = "block"
			const box = root.getBoundingClientRect(), px = event.clientX - box.left
			tip.style.left = `${Math.max(0, Math.min(px + 12, box.width - tip.offsetWidth))}px`
			tip.style.top = `${event.clientY - box.top + 14}px`
			if (over === +i) return
			over = +i
			drawArrows()
		}
		let held = null
		svg.addEventListener("pointerdown", event => {
			if (event.button !== 0) return
			held = { px: event.clientX, from, to }
			svg.setPointerCapture(event.pointerId)
			svg.style.cursor = "grabbing"
		})
		svg.addEventListener("pointermove", event => {
			if (!held) return hover(event)
			const by = (held.px - event.clientX) * (held.to - held.from) / (inner() * svg.getBoundingClientRect().width / width)
			if (by) show(held.from + by, held.to + by)
		})
		const release = () => {
			held = null
			svg.style.cursor = "grab"
		}
		svg.addEventListener("pointerup", release)
		svg.addEventListener("pointercancel", release)
		svg.addEventListener("pointerleave", hide)
		svg.addEventListener("dblclick", event => zoom(0.5, time(pointer(event)[0])))
		svg.addEventListener("wheel", event => {
			if (event.ctrlKey || event.metaKey) {
				zoom(2 ** (Math.max(-60, Math.min(60, event.deltaY)) / 60), time(pointer(event)[0]))
			} else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
				const by = event.deltaX * (to - from) / inner()
				show(from + by, to + by)
			} else return // the page scrolls
			event.preventDefault()
		}, { passive: false })
		svg.addEventListener("keydown", event => {
			const by = (to - from) / 8
			const act = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => show(0, d.took), Home: () => show(0, d.took),
				ArrowLeft: () => show(from - by, to - by), ArrowRight: () => show(from + by, to + by) }[event.key]
			if (!act || event.ctrlKey || event.metaKey || event.altKey) return
			act()
			event.preventDefault()
			event.stopPropagation()
		})
		const size = () => {
			const now = Math.max(root.clientWidth, 480)
			if (root.clientWidth && now !== width) {
				width = now
				plan()
			}
		}
		if (typeof ResizeObserver !== "undefined") new ResizeObserver(size).observe(root)
		draw()
		size()
	}

	for (const root of document.querySelectorAll(".symm-timeline:not([data-live])")) live(root)
})()
