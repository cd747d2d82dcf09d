/** A client of the storage in a SQLite file, on any runtime. Some of its transactions meet a busy or full file, or lose their outcome. */
import { join } from "node:path"
import { createSqliteStorage } from "@sessions/sqlite"
import { createDice, type Dice } from "../../../../packages/core/test/dice.ts"
import { type Faults, withFaults } from "../../../../packages/sqlite/test/faults.ts"
import { serve } from "./process.ts"

interface Place {
  readonly root: string
  readonly faults: boolean
}

await serve(({ place, seed }) => {
  const { root, faults } = place as Place
  const path = join(root, "sessions.db")
  if (!faults) return createSqliteStorage({ path })
  return createSqliteStorage({ path, open: withFaults(atRandom(createDice(seed)), { dead: false }) })
})

/** Each fault is armed whenever the dice say so. */
function atRandom(random: Dice): Faults {
  return new Proxy<Faults>({}, { get: () => (random.next() < 0.03 ? 1 : 0), set: () => true })
}
