import { createApp } from "./app/app.ts"
import { createPage } from "./view/page.ts"

/** The hash of the URL is the session's id, so that a reload and a second tab show the same session. */
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
// Updates relative times such as "5 min. ago".
setInterval(() => document.visibilityState === "visible" && void app.refresh(), 60_000)

// Both begin before the user can do anything: shown later, the session would replace what the user has opened meanwhile.
await Promise.all([app.refresh(), app.show(named())])
void app.sync()
if (import.meta.env.PROD) await registerServiceWorker()

/** Keeps the files of this page in the browser, so that it opens without a server. */
async function registerServiceWorker(): Promise<void> {
  // Missing on insecure pages and in private windows of some browsers: then the page needs its server to open.
  await navigator.serviceWorker?.register("./service-worker.js").catch((error: unknown) => console.info(String(error)))
}
