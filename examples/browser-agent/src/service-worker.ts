/**
 * Opens the page without its server: keeps all files of one build, and answers from them. A new build is fetched as a whole beside the old
 * one, and takes its place when no tab shows the old one any more, so a tab never mixes the files of two builds. Requests for anything
 * else, such as those to the storage, are left alone.
 */

/** Both are filled in by `vite.config.ts`. */
declare const PAGE_FILES: readonly string[]
declare const PAGE_BUILD: string

/** The types of workers and of pages exclude each other in one program. */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface WorkerFetchEvent extends WorkerEvent {
  readonly request: Request
  respondWith(response: Promise<Response>): void
}
interface Worker {
  readonly registration: { readonly scope: string }
  readonly clients: { claim(): Promise<void> }
  addEventListener(type: "install" | "activate", listener: (event: WorkerEvent) => void): void
  addEventListener(type: "fetch", listener: (event: WorkerFetchEvent) => void): void
}

const worker = globalThis as unknown as Worker
const PREFIX = "browser-agent-"
const CACHE = `${PREFIX}${PAGE_BUILD}`
const PAGE = "./"
const { scope } = worker.registration
const kept = new Set([PAGE, ...PAGE_FILES].map((file) => new URL(file, scope).href))

worker.addEventListener("install", (event) => event.waitUntil(keepFiles()))
worker.addEventListener("activate", (event) => event.waitUntil(removeOldBuilds()))
worker.addEventListener("fetch", (event) => {
  const { method, url, mode } = event.request
  const file = new URL(url)
  file.hash = ""
  file.search = ""
  if (mode === "navigate" && file.href === new URL("index.html", scope).href) file.href = scope
  if (method === "GET" && kept.has(file.href)) event.respondWith(answer(file.href, event.request))
})

async function keepFiles(): Promise<void> {
  const cache = await caches.open(CACHE)
  // Not from the browser's own cache, which may have a page of another build.
  await cache.addAll(Array.from(kept, (url) => new Request(url, { cache: "reload" })))
}

async function removeOldBuilds(): Promise<void> {
  const old = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE)
  for (const name of old) await caches.delete(name)
  // The tab of the first visit, which was opened without this worker.
  await worker.clients.claim()
}

/** The browser may have cleared the cache. */
async function answer(url: string, request: Request): Promise<Response> {
  return (await (await caches.open(CACHE)).match(url)) ?? fetch(request)
}
