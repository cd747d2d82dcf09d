import { withFileLock } from "@sessions/fs/lock"
import { readFile, rename, writeFile } from "node:fs/promises"

await withFileLock("./counters/.lock", async (checkHeld) => {
  const count = Number(await readFile("./counters/visits", "utf8").catch(() => "0"))
  await writeFile("./counters/visits.new", String(count + 1))
  checkHeld() // throws `unavailable` if this process stood still and another one has the lock
  await rename("./counters/visits.new", "./counters/visits")
})
export {}
