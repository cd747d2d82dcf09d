import { run } from "@sessions/conformance"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"

const report = await run({
  name: "mine",
  makeLocation: () => createMemoryLocation(), // yours: a new empty place
  open: (location) => createMemoryStorage({ location }), // yours: opening one twice gives two writers
})
console.log(report.counts.failed) // 0
export {}
