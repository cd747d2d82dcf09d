import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import type { Restorable } from "../../core/test/restores.ts"

export function makeStore(): Restorable {
  const location = createMemoryLocation()
  return {
    open: () => createMemoryStorage({ location }),
    async backup() {
      const logs = structuredClone(location.logs)
      return () => {
        location.logs.clear()
        for (const [id, log] of structuredClone(logs)) location.logs.set(id, log)
      }
    },
  }
}
