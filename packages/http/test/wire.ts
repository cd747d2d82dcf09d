/** A storage and its handler in one process: what the client sends goes to the handler without a network. */
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { connectHttpStorage } from "../src/client.ts"
import { createStorageHandler, type Handler, type StorageHandlerOptions } from "../src/server.ts"

export const URL_OF_STORAGE = "http://host/storage"

export function handlerOf(storage: SessionStorage, options: Partial<StorageHandlerOptions<string>> = {}): Handler {
  return createStorageHandler({
    basePath: "/storage",
    authorize: () => "me",
    storage: () => storage,
    onError: () => undefined,
    ...options,
  })
}

/** Sends a request; by default to the handler. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Wire {
  readonly location: MemoryLocation
  /** The storage behind the handler. */
  readonly behind: SessionStorage
  readonly handler: Handler
  readonly storage: SessionStorage
  /** Method and path of each request. */
  readonly sent: string[]
  /** Takes the place of the network. */
  fetch: Fetch
}

export async function wire(options: Partial<StorageHandlerOptions<string>> = {}): Promise<Wire> {
  const location = createMemoryLocation()
  const behind = createMemoryStorage({ location })
  const handler = handlerOf(behind, options)
  const sent: string[] = []
  const made: { wire?: Wire } = {}
  const direct: Fetch = (url, init) => handler(new Request(url, init))
  const storage = await connectHttpStorage({
    url: URL_OF_STORAGE,
    fetch: (url, init) => {
      sent.push(`${init.method} ${url.slice(URL_OF_STORAGE.length)}`)
      return (made.wire?.fetch ?? direct)(url, init)
    },
  })
  sent.length = 0
  made.wire = { location, behind, handler, storage, sent, fetch: direct }
  return made.wire
}

export async function linesOf(storage: SessionStorage, session = "a"): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read(session)) lines.push(...chunk.lines)
  return lines
}

export async function codeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => "done",
    (error: unknown) => (error as { readonly code?: unknown }).code,
  )
}
