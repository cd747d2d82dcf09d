import type { App } from "../app/app.ts"
import { button } from "./buttons.ts"
import { h, setText } from "./dom.ts"
import { size } from "./format.ts"
import type { View } from "./view.ts"

/** How much is stored, and whether the browser may clear it. */
export function createStorageView(app: App): View {
  const used = h("span", {})
  const fill = h("span", { class: "fill" })
  const meter = h("div", { class: "quota", role: "meter", "aria-label": "Storage used", "aria-valuemin": 0 }, fill)
  const persistence = h("span", {})
  const keep = button(undefined, "Keep it", () => void app.persist(), {
    class: "plain small",
    label: "Keep it: ask the browser not to clear these sessions when the disk fills up",
  })
  const element = h(
    "section",
    { class: "storage", "aria-label": "Storage" },
    used,
    meter,
    h("div", { class: "row" }, persistence, keep),
  )
  return {
    element,
    update({ estimate, persisted }) {
      setText(used, estimate === undefined ? "This browser gives no estimate of the stored size." : describe(estimate))
      meter.hidden = estimate === undefined
      if (estimate !== undefined) {
        meter.setAttribute("aria-valuemax", String(estimate.quota))
        meter.setAttribute("aria-valuenow", String(estimate.usage))
        meter.setAttribute("aria-valuetext", describe(estimate))
        fill.style.width = `${Math.max(1, (100 * estimate.usage) / Math.max(1, estimate.quota))}%`
      }
      setText(persistence, persisted ? "The browser will keep it." : "The browser may clear it.")
      keep.hidden = persisted
    },
  }
}

function describe({ usage, quota }: { readonly usage: number; readonly quota: number }): string {
  return `${size(usage)} of about ${size(quota)} used`
}
