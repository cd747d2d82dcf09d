import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { chain, linesOf, user } from "../../test/chain.ts"
import { createCountingStorage } from "../../test/counting-storage.ts"
import { HEADER } from "../../test/logs.ts"
import { STORED_ID } from "../../test/stored.ts"
import { createSessions } from "./repository.ts"

const COUNT = 2_000
const said = Array.from({ length: COUNT }, (_, n) => user(`${n}`))
const labels = Array.from({ length: COUNT }, (_, n) => ({ type: "label", targetId: `e${n + 1}`, label: "l" }))

test.each([0, 1, 20])(
  "an opening reads no annotations to find the leaf that the stored information says, %i lines behind the log",
  async (more) => {
    const storage = createCountingStorage(createMemoryStorage())
    const slots = chain(...said, ...labels)
    let head = await storage.append(STORED_ID, linesOf(slots, HEADER), { expect: 0 })
    await createSessions({ storage }).list()
    for (let n = 0; n < more; n++) {
      const line = {
        type: "label",
        id: `l${n}`,
        parentId: n === 0 ? slots.at(-1)?.id : `l${n - 1}`,
        seq: slots.length + n,
        timestamp: HEADER.timestamp,
        targetId: "e1",
        label: "x",
      }
      head = await storage.append(STORED_ID, [JSON.stringify(line)], { expect: head })
    }
    storage.take()
    const session = await createSessions({ storage }).open(STORED_ID)
    expect(session.leafId).toBe(more === 0 ? slots.at(-1)?.id : `l${more - 1}`)
    expect(storage.take().lines).toBeLessThan(COUNT)
  },
)
