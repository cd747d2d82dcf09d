import { createApp } from "./app/app.ts"
import { createPage } from "./view/page.ts"

/** The address names the session, so that a reload, and a second tab, come back to it. */
const named = (): string | undefined =>
  location.hash.length > 1 ? decodeURIComponent(location.hash.slice(1)) : undefined

const app = createApp(named())
document.body.append(createPage(app))

app.store.subscribe(({ openId }) => {
  if (openId !== named()) history.replaceState(null, "", openId === undefined ? location.pathname : `#${openId}`)
})
addEventListener("hashchange", () => {
  if (named() !== app.store.get().openId) void app.show(named())
})
addEventListener("focus", () => void app.refresh())
// "5 min. ago" becomes 6.
setInterval(() => document.visibilityState === "visible" && void app.refresh(), 60_000)

await app.refresh()
await app.show(named())
