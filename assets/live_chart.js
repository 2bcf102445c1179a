// Live charts of one instance: panels that share one poll of the console's own server and slide with time.
// The state lives here and not in Plotly: points, and the stretch of time somebody zoomed into. A tick draws from it.

const TICK_MS = 2000
const LONGEST_WAIT_MS = 30000
const ANSWER_WITHIN_MS = 10000
const DOUBLE_CLICK_MS = 350
const STALE_S = 10
const SHARES = ["p50", "p95", "p99"]
const DASHES = ["solid", "5px,3px", "2px,3px"]
const FADES = [1, 0.9, 0.8]
const line = (column, rank, grey = false, label = column) =>
  ({ column, label, grey, dash: DASHES[rank], fade: FADES[rank] })
const latency = name => SHARES.map((share, rank) => line(`${name}_${share}`, rank, false, share))
const PANELS = [
  { name: "ttft", unit: "second", blank: "no_request", lines: latency("ttft") },
  { name: "inter_token", unit: "millisecond", scale: 1000, blank: "no_request", lines: latency("inter_token") },
  { name: "e2e", unit: "second", blank: "no_request", lines: latency("e2e") },
  { name: "tokens", unit: "per_second", blank: "no_sample", lines: [line("generation", 0), line("prompt", 1, true)] },
  { name: "requests", unit: "", blank: "no_sample", whole: true,
    lines: [line("running", 0), line("waiting", 1, true)] },
  { name: "kv", unit: "%", scale: 100, blank: "no_sample", top: 100, lines: [line("kv", 0, false, "used")] },
]
const charts = new WeakMap()

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".pilot-live")
  if (!charts.has(root)) charts.set(root, start(root))
  const chart = charts.get(root)
  chart.show(data)
  return () => { chart.stop(); charts.delete(root) }
}

function start(root) {
  const chart = { root, data: null, panels: [], points: [], zoom: null, zoomed: "", held: false, now: null, last: null,
    step: 2, answered: null, failures: 0, trouble: "", timer: 0, release: 0, request: null, stopped: false,
    Plotly: null }
  const seen = () => { if (document.visibilityState === "visible" && chart.Plotly) poll(chart, true) }
  // A redraw between the two clicks of a double click would make them two single ones.
  const released = () => {
    clearTimeout(chart.release)
    chart.release = setTimeout(() => letGo(chart), DOUBLE_CLICK_MS)
  }
  const sized = new ResizeObserver(() => chart.panels.forEach(panel => {
    if (panel.drawn && panel.plot.clientWidth) chart.Plotly.Plots.resize(panel.plot)
  }))
  document.addEventListener("visibilitychange", seen)
  window.addEventListener("pointerup", released)
  window.addEventListener("pointercancel", released)
  sized.observe(root)
  chart.show = data => show(chart, data)
  chart.stop = () => {
    chart.stopped = true
    clearTimeout(chart.timer)
    clearTimeout(chart.release)
    chart.request?.abort()
    document.removeEventListener("visibilitychange", seen)
    window.removeEventListener("pointerup", released)
    window.removeEventListener("pointercancel", released)
    sized.disconnect()
    chart.panels.forEach(panel => panel.drawn && chart.Plotly.purge(panel.plot))
    root.replaceChildren()
  }
  return chart
}

// Runs at the first mount and whenever the page, its language or the theme changes.
function show(chart, data) {
  const old = chart.data
  chart.data = data
  if (!old || JSON.stringify(old.labels) !== JSON.stringify(data.labels)) build(chart)
  const elsewhere = !old || moved(old, data)
  if (elsewhere) Object.assign(chart, { points: [], zoom: null, now: null, last: null })
  if (chart.Plotly) { draw(chart); if (elsewhere) poll(chart, true); return }
  if (old) return
  plotly(data.script).then(
    loaded => { if (!chart.stopped) { chart.Plotly = loaded; poll(chart, true) } },
    () => chart.panels.forEach(panel => { panel.empty.textContent = chart.data.labels.no_script }),
  )
}

const moved = (old, data) => old.instance !== data.instance || old.minutes !== data.minutes

// One script element for all charts of the page, whoever comes first.
function plotly(address) {
  if (!window.pilotPlotly) {
    window.pilotPlotly = new Promise((resolve, reject) => {
      const script = document.createElement("script")
      script.src = address
      script.onload = () => resolve(window.Plotly)
      script.onerror = () => { script.remove(); window.pilotPlotly = null; reject(new Error(address)) }
      document.head.append(script)
    })
  }
  return window.pilotPlotly
}

function build(chart) {
  const { labels } = chart.data
  chart.panels.forEach(panel => panel.drawn && chart.Plotly.purge(panel.plot))
  chart.root.replaceChildren()
  chart.panels = PANELS.map(spec => {
    const section = element("section", "panel", chart.root)
    const head = element("div", "head", section)
    const title = element("span", "title", head, labels[spec.name])
    title.title = labels[spec.name]
    element("span", "unit", title, labels[spec.unit] ?? spec.unit)
    const legend = element("span", "legend", head)
    const values = spec.lines.map(entry => {
      const item = element("span", "item", legend)
      item.innerHTML = `<svg viewBox="0 0 20 8"><line x1="0" y1="4" x2="20" y2="4" stroke-width="2"/></svg>`
      const stroke = item.querySelector("line")
      stroke.setAttribute("stroke-dasharray", entry.dash === "solid" ? "" : entry.dash.replaceAll("px", ""))
      stroke.setAttribute("stroke-opacity", entry.fade)
      item.append(labels[entry.label] ?? entry.label, " ")
      return { stroke, text: element("b", "", item, "–") }
    })
    const plot = element("div", "plot", section)
    plot.setAttribute("role", "img")
    plot.setAttribute("aria-label", labels[spec.name])
    plot.addEventListener("pointerdown", () => { clearTimeout(chart.release); chart.held = true })
    const note = element("div", "note", section)
    note.setAttribute("role", "status")
    return { ...spec, values, plot, note, empty: element("div", "empty", section, labels.loading), drawn: false }
  })
}

function element(kind, name, parent, text = "") {
  const made = document.createElement(kind)
  if (name) made.className = name
  made.textContent = text
  parent.append(made)
  return made
}

async function poll(chart, now = false) {
  clearTimeout(chart.timer)
  if (chart.stopped || document.visibilityState !== "visible") return
  if (!now) { chart.timer = setTimeout(() => poll(chart, true), wait(chart)); return }
  chart.request?.abort()
  const request = chart.request = new AbortController()
  const asked = chart.data
  const limit = setTimeout(() => request.abort(), ANSWER_WITHIN_MS)
  try {
    const answer = await fetch(address(chart), { signal: request.signal, cache: "no-store" })
    const words = answer.headers.get("content-type")?.includes("json") ? await answer.json() : {}
    if (request !== chart.request || asked !== chart.data && moved(asked, chart.data)) return
    if (answer.ok) take(chart, words)
    else failed(chart, words.error)
  } catch {
    if (request !== chart.request || chart.stopped) return
    failed(chart)
  } finally {
    clearTimeout(limit)
  }
  if (chart.stopped) return
  draw(chart)
  poll(chart)
}

function letGo(chart) {
  if (!chart.held) return
  chart.held = false
  draw(chart)
}

const wait = chart => Math.min(TICK_MS * 2 ** chart.failures, LONGEST_WAIT_MS)

function address({ data, points }) {
  const after = points.length ? `&after=${points[points.length - 1].t}` : ""
  return `${data.series}?instance=${data.instance}&minutes=${data.minutes}&language=${data.language}${after}`
}

function take(chart, answer) {
  const { series, at_least: open } = answer
  if (answer.reset) chart.points = []
  const last = chart.points.length ? chart.points[chart.points.length - 1].t : -Infinity
  const times = series.t ?? []
  times.forEach((t, place) => {
    if (t <= last) return
    const point = { t, x: t * 1000, y: {}, text: {} }
    for (const panel of chart.panels) for (const { column } of panel.lines) {
      const value = series[column]?.[place] ?? null
      point.y[column] = value === null ? null : value * (panel.scale ?? 1)
      const mark = open[column]?.includes(place) ? "≥ " : ""
      point.text[column] = value === null ? "" : mark + figure(point.y[column], panel)
    }
    chart.points.push(point)
  })
  Object.assign(chart, { now: answer.now, last: answer.last, step: answer.step, answered: Date.now(), failures: 0,
    trouble: "" })
  const oldest = Math.min(answer.now - chart.data.minutes * 60, chart.zoom ? chart.zoom[0] / 1000 : Infinity)
  chart.points = chart.points.filter(point => point.t >= oldest - 3 * answer.step)
}

function failed(chart, sentence) {
  chart.failures = Math.min(chart.failures + 1, 8)
  chart.answered ??= Date.now()
  chart.trouble = sentence ?? fill(chart.data.labels.no_answer, chart.answered / 1000)
}

function fill(label, t) {
  return label.replace("%time", new Date(t * 1000).toLocaleTimeString("sv-SE"))
}

function figure(value, panel) {
  if (panel.whole && Number.isInteger(value)) return String(value)
  const size = Math.abs(value)
  if (size === 0) return "0"
  if (size < 1) return value.toPrecision(2)
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
}

function draw(chart) {
  // A redraw would take a zoom box out of the hand that draws it.
  if (chart.stopped || !chart.Plotly || chart.held || chart.now === null && !chart.trouble) return
  const style = getComputedStyle(chart.root)
  const colour = name => style.getPropertyValue(`--st-${name}-color`).trim()
  const look = { accent: colour("primary"), text: colour("text"), grid: colour("border"), paper: colour("background"),
    font: style.getPropertyValue("--st-font").trim() || "sans-serif" }
  const end = chart.now ?? Date.now() / 1000
  const range = chart.zoom ?? [(end - chart.data.minutes * 60) * 1000, end * 1000]
  chart.panels.forEach(panel => drawPanel(chart, panel, look, range))
}

function drawPanel(chart, panel, look, range) {
  const { points, data: { labels } } = chart
  const visible = points.filter(point => point.x >= range[0] && point.x <= range[1])
  const traces = panel.lines.flatMap(entry => lineTraces(points, entry, labels, look))
  const top = Math.max(0, ...visible.flatMap(point => panel.lines.map(entry => point.y[entry.column] ?? 0)))
  panel.values.forEach(({ stroke, text }, place) => {
    const { column, grey } = panel.lines[place]
    stroke.setAttribute("stroke", grey ? look.text : look.accent)
    text.textContent = points.length && points[points.length - 1].text[column] || "–"
  })
  const known = visible.some(point => panel.lines.some(entry => point.y[entry.column] !== null))
  panel.empty.textContent = known ? "" : labels[panel.blank]
  const stale = chart.last !== null && chart.now - chart.last > STALE_S ? fill(labels.stale, chart.last) : ""
  panel.note.textContent = chart.trouble || stale || (chart.zoom && chart.zoomed === panel.name ? labels.zoomed : "")
  panel.note.classList.toggle("trouble", Boolean(chart.trouble || stale))
  const config = { displayModeBar: false, responsive: false, doubleClick: false, scrollZoom: false }
  chart.Plotly.react(panel.plot, traces, layout(panel, look, range, known, top, labels), config)
  if (!panel.drawn) listen(chart, panel)
}

function lineTraces(points, entry, labels, look) {
  const { column } = entry
  const known = place => points[place] && points[place].y[column] !== null
  const lonely = points.filter((_, place) => known(place) && !known(place - 1) && !known(place + 1))
  const colour = entry.grey ? look.text : look.accent
  return [
    { type: "scatter", mode: "lines", name: labels[entry.label] ?? entry.label, x: points.map(point => point.x),
      y: points.map(point => point.y[column]), customdata: points.map(point => point.text[column]), connectgaps: false,
      line: { color: colour, dash: entry.dash, width: 1.6 }, opacity: entry.fade, hovertemplate: "%{customdata}" },
    // A line needs two points; one alone between gaps is shown as a dot.
    { type: "scatter", mode: "markers", x: lonely.map(point => point.x), y: lonely.map(point => point.y[column]),
      marker: { color: colour, size: 4 }, opacity: entry.fade, hoverinfo: "skip" },
  ]
}

// Plotly reads numbers on a time axis as instants and shows them in the reader's zone.
function layout(panel, look, range, known, top, labels) {
  const ticks = { gridcolor: look.grid, gridwidth: 0.6, zeroline: false, linecolor: look.grid, automargin: false }
  const unit = labels[panel.unit] ?? panel.unit
  const high = panel.top ? panel.top * 1.06 : top > 0 ? top * 1.12 : 1
  return {
    height: 168, margin: { l: 52, r: 8, t: 8, b: 22 }, showlegend: false, hovermode: "x unified", dragmode: "zoom",
    paper_bgcolor: look.paper, plot_bgcolor: look.paper, font: { family: look.font, size: 11, color: look.text },
    hoverlabel: { bgcolor: look.paper, bordercolor: look.grid, font: { color: look.text, size: 11 } },
    xaxis: { ...ticks, type: "date", range, autorange: false, nticks: 6, tickformatstops: CLOCK,
      hoverformat: "%H:%M:%S" },
    yaxis: { ...ticks, showticklabels: known, showgrid: known, fixedrange: true, nticks: 5, tickformat: "~r",
      range: [0, panel.whole ? Math.max(high, 1.12) : high],
      ticksuffix: unit.length > 2 ? "" : panel.unit === "%" ? "%" : ` ${unit}`,
      showticksuffix: panel.unit === "%" ? "all" : "last",
      dtick: panel.top ? panel.top / 4 : panel.whole && high <= 5 ? 1 : undefined },
  }
}

// Never the date under the axis: the window ends now, and a second line would cost a fifth of the panel.
const CLOCK = [
  { dtickrange: [null, 59999], value: "%H:%M:%S" },
  { dtickrange: [60000, 43200000], value: "%H:%M" },
  { dtickrange: [43200000, null], value: "%m-%d" },
]

function listen(chart, panel) {
  panel.drawn = true
  panel.plot.on("plotly_relayout", change => {
    const [from, to] = [change["xaxis.range[0]"], change["xaxis.range[1]"]].map(edge =>
      typeof edge === "string" ? Date.parse(edge.replace(" ", "T")) : edge)
    if (!Number.isFinite(from) || !Number.isFinite(to)) return
    Object.assign(chart, { zoom: [from, to], zoomed: panel.name })
    chart.held = true
    letGo(chart)
  })
  panel.plot.on("plotly_doubleclick", () => { chart.zoom = null; chart.held = true; letGo(chart) })
}
