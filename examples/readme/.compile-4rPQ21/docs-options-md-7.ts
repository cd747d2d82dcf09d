import { createSessions, hasCode } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

try {
  createSessions({ storage: createMemoryStorage(), ...{ onConflictt: "fail" } })
} catch (error) {
  console.log(hasCode(error, "invalid")) // true
}
export {}
