import type { App } from "../app/app.ts"
import { COMPACTION_THRESHOLD } from "../app/shown-session.ts"
import type { ContextBar, Part } from "../sessions/context-bar.ts"
import { button } from "./buttons.ts"
import { h, setText } from "./dom.ts"
import type { View } from "./view.ts"

const NAMES: Readonly<Record<Part, string>> = {
  summary: "summary",
  user: "questions",
  assistant: "answers",
  tools: "tools",
}

/** How full the context window is. The hatched part is a summary, which replaces more tokens than it takes. */
export function createContextBar(app: App): View {
  const parts = Object.keys(NAMES) as Part[]
  const segments = new Map(parts.map((part) => [part, h("span", { class: `part ${part}` })]))
  const meter = h(
    "div",
    { class: "window", role: "meter", "aria-label": "Context window", "aria-valuemin": 0 },
    ...segments.values(),
  )
  const mark = h("span", { class: "mark", title: `Summarized automatically from ${COMPACTION_THRESHOLD * 100} % on` })
  mark.style.left = `${COMPACTION_THRESHOLD * 100}%`
  meter.append(mark)
  const used = h("span", { class: "used" })
  const legend = h("span", { class: "legend", "aria-hidden": "true" })
  const compact = button("compact", "Compact", () => void app.compact(), {
    class: "quiet small",
    label: "Compact: have the older part summarized now",
  })
  const element = h(
    "section",
    { class: "context", "aria-label": "Context" },
    meter,
    h("div", { class: "row" }, used, legend, compact),
  )
  return {
    element,
    update({ conversation, compacting, openId, turns }) {
      const bar = conversation?.bar
      element.hidden = bar === undefined || conversation?.lines.length === 0
      if (bar === undefined) return
      for (const { part, tokens } of bar.parts) {
        const segment = segments.get(part)
        if (segment !== undefined) segment.style.width = `${(100 * tokens) / Math.max(bar.window, bar.used)}%`
      }
      const description = describe(bar)
      meter.setAttribute("aria-valuemax", String(bar.window))
      meter.setAttribute("aria-valuenow", String(Math.min(bar.used, bar.window)))
      meter.setAttribute("aria-valuetext", description)
      meter.classList.toggle("over", bar.used > bar.window)
      setText(used, compacting ? "Summarizing the older part …" : description)
      legend.replaceChildren(
        ...bar.parts
          .filter(({ tokens }) => tokens > 0)
          .map(({ part }) => h("span", { class: `key ${part}` }, NAMES[part])),
      )
      const busy = compacting || turns.has(openId ?? "")
      compact.disabled = busy || conversation?.readOnly !== undefined
    },
  }
}

function describe({ used, window, compaction, parts }: ContextBar): string {
  const total = `${used.toLocaleString()} of ${window.toLocaleString()} tokens`
  if (compaction === undefined) return total
  const summary = parts.find(({ part }) => part === "summary")?.tokens ?? 0
  return `${total}, ${summary.toLocaleString()} of them a summary`
}
