import { createMemoryHistory } from "@sessions/history"
import { historyCases } from "./cases.ts"

historyCases(
  "memory",
  () => "",
  (_, o) => createMemoryHistory(o),
)
