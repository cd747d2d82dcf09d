/** The storage over HTTP on a troubled network: two handlers over one storage in memory, which is also there without a network. */
import type { Subject } from "@sessions/conformance"
import { answerNames, createNetwork, type Fetch } from "@sessions/conformance/network"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { createHttpStorage } from "../src/client.ts"
import type { Handler } from "../src/server.ts"
import { handlerOf, URL_OF_STORAGE } from "./wire.ts"

export interface NetworkLocation {
  readonly memory: MemoryLocation
  readonly handlers: readonly [Handler, Handler]
}

/** Milliseconds until a client gives up. Requests without an answer are many, and the others take less than one. */
const TIMEOUT = 40

export const onNetwork: Subject<NetworkLocation> = {
  name: "http",
  makeLocation() {
    const memory = createMemoryLocation()
    const handler = (): Handler => handlerOf(createMemoryStorage({ location: memory }))
    return { memory, handlers: [handler(), handler()] }
  },
  open: ({ memory }) => createMemoryStorage({ location: memory }),
  network: {
    names: answerNames,
    open({ memory, handlers }, meet) {
      let requests = 0
      const { fetch, arrive } = createNetwork((url, init) => {
        // Repeated changes of a document are known for certain by the server that made them alone: `docs/http.md`, "What remains".
        const handler = url.includes("/docs/") ? handlers[0] : (handlers[requests++ % 2] as Handler)
        return handler(new Request(url, init))
      }, meet)
      const { capabilities } = createMemoryStorage({ location: memory })
      const storage = createHttpStorage({
        url: URL_OF_STORAGE,
        capabilities: { ...capabilities, writers: "any", replace: false },
        timeout: TIMEOUT,
        fetch: exceptConnecting(fetch, handlers[0]),
      })
      return { storage, arrive }
    },
  },
}

/** The comparison of the capabilities meets no fault; it is tried apart. */
function exceptConnecting(fetch: Fetch, handler: Handler): Fetch {
  return (url, init) => (url.endsWith("/capabilities") ? handler(new Request(url, init)) : fetch(url, init))
}
