import type { App } from "../app/app.ts"
import { button } from "./buttons.ts"
import { h, setText } from "./dom.ts"
import { size } from "./format.ts"
import type { View } from "./view.ts"

/** How much is stored, and whether the browser will keep it. */
export function createStorageView(app: App): View {
  const used = h("span", {})
  const fill = h("span", { class: "fill" })
  const meter = h("div", { class: "quota", role: "meter", "aria-label": "Storage used", "aria-valuemin": 0 }, fill)
  const promise = h("span", {})
  const keep = button(undefined, "Keep it", () => void app.keep(), {
    class: "plain small",
    label: "Keep it: ask the browser not to clear these sessions when the disk fills up",
  })
  const element = h(
    "section",
    { class: "storage", "aria-label": "Storage" },
    used,
    meter,
    h("div", { class: "row" }, promise, keep),
  )
  return {
    element,
    update({ estimate, kept }) {
      setText(used, estimate === undefined ? "This browser does not say how much it stores." : saidOf(estimate))
      meter.hidden = estimate === undefined
      if (estimate !== undefined) {
        meter.setAttribute("aria-valuemax", String(estimate.quota))
        meter.setAttribute("aria-valuenow", String(estimate.usage))
        meter.setAttribute("aria-valuetext", saidOf(estimate))
        fill.style.width = `${Math.max(1, (100 * estimate.usage) / Math.max(1, estimate.quota))}%`
      }
      setText(promise, kept ? "The browser will keep it." : "The browser may clear it.")
      keep.hidden = kept
    },
  }
}

function saidOf({ usage, quota }: { readonly usage: number; readonly quota: number }): string {
  return `${size(usage)} of about ${size(quota)} used`
}
