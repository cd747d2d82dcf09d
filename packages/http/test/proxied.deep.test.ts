/**
 * Whatever a real proxy answers the `fetch` of the runtime: what the calls of a storage are told is true. Deep runs have it on Node, Bun and
 * Deno.
 */
import { register, type Subject } from "@sessions/conformance"
import { answerNames, registerSchedules } from "@sessions/conformance/network"
import { startProxy } from "@sessions/conformance/proxy"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { test } from "vitest"
import { createHttpStorage } from "../src/client.ts"
import type { Handler } from "../src/server.ts"
import { handlerOf } from "./wire.ts"

/** Requests without an answer are many; the others take some milliseconds, on a busy machine some hundred. */
const TIMEOUT = 500

interface Place {
  readonly memory: MemoryLocation
  /** One for all requests: it knows which write it has done, also if the request comes again. */
  readonly handler: Handler
}

const proxied: Subject<Place> = {
  name: "http behind a proxy",
  makeLocation() {
    const memory = createMemoryLocation()
    return { memory, handler: handlerOf(createMemoryStorage({ location: memory })) }
  },
  open: ({ memory }) => createMemoryStorage({ location: memory }),
  network: {
    names: answerNames,
    async open({ memory, handler }, meet) {
      let isReady = false
      const { url, arrive, close } = await startProxy(
        (address, init) => handler(new Request(address, init)),
        (request) => (isReady ? meet(request) : undefined),
      )
      const { capabilities } = createMemoryStorage({ location: memory })
      const storage = createHttpStorage({
        url: `${url}/storage`,
        capabilities: { ...capabilities, writers: "any", replace: false },
        timeout: TIMEOUT,
      })
      // The comparison of the capabilities meets no fault.
      await storage.head("none").catch(() => undefined)
      isReady = true
      return {
        arrive,
        storage: {
          ...storage,
          async [Symbol.asyncDispose]() {
            await storage[Symbol.asyncDispose]()
            await close()
          },
        },
      }
    },
  },
}

register(test, proxied, { only: ["network"], sizes: { race: 4 } })
registerSchedules(test, proxied, {
  seed: Number(process.env["SEED"] ?? Date.now() % 1_000_000),
  runs: Number(process.env["NETWORK_RUNS"] ?? 200),
  parallel: 20,
  onEnd: ({ runs, faults }) =>
    console.info(
      `measured: HTTP storage behind a proxy: ${runs} schedules, ${faults} faults, 0 lost, 0 doubled, 0 wrong codes`,
    ),
})
