import type { Subject } from "@sessions/conformance"
import { answerNames, createNetwork, registerSchedules } from "@sessions/conformance/network"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { createHttpStorage } from "@sessions/http/client" // yours
import { createStorageHandler } from "@sessions/http/server" // your store
import { test } from "node:test"

const subject: Subject<MemoryLocation> = {
  name: "my store",
  makeLocation: createMemoryLocation,
  open: (location) => createMemoryStorage({ location }), // the store without a network
  network: {
    names: answerNames,
    open(location, meet) {
      const store = createMemoryStorage({ location })
      const handler = createStorageHandler({ authorize: () => "test", storage: () => store })
      const { fetch, arrive } = createNetwork((url, init) => handler(new Request(url, init)), meet)
      const capabilities = { ...store.capabilities, writers: "any", replace: false } as const
      return { storage: createHttpStorage({ url: "http://store", fetch, capabilities, timeout: 50 }), arrive }
    },
  },
}

registerSchedules(test, subject, { runs: 20 })
export {}
