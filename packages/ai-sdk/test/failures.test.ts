/** What remains after a kill, after lost requests and answers, and when two processes save at once. */
import { createFaultyStorage, type Fault } from "@sessions/conformance/faults"
import { createSessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createDice } from "../../core/test/dice.ts"
import { createChatStore } from "../src/index.ts"
import { afterSteps } from "./answers.ts"
import { killedRunTest } from "./killed-run.ts"
import { contentsOf, twoSavesTest } from "./several-processes.ts"
import { storages } from "./storages.ts"

killedRunTest("files", [3, 30])

const FAULTS: readonly Fault[] = ["unavailable", "request lost", "response lost", "late", "prefix"]

test.each([1, 2, 3, 4])(
  "lost requests and answers lose and double nothing, if a failed save is repeated (seed %i)",
  async (seed) => {
    const dice = createDice(seed)
    const location = createMemoryLocation()
    let isFailing = true
    const storage = createFaultyStorage(createMemoryStorage({ location }), {
      decide: ({ operation }) =>
        isFailing && operation === "append" && dice.chance(0.4) ? dice.pick(FAULTS) : undefined,
    })
    const store = createChatStore(createSessions({ storage }))
    for (let step = 0; step <= 20; step++) {
      for (let isSaved = false; !isSaved; ) {
        isSaved = await store.saveChat({ chatId: "c", messages: afterSteps(step) }).then(
          () => true,
          () => false,
        )
        if (dice.chance(0.5) && storage.late > 0) await storage.deliver()
      }
    }
    isFailing = false
    while (storage.late > 0) await storage.deliver()
    const sessions = createSessions({ storage: createMemoryStorage({ location }) })
    expect(await createChatStore(sessions).loadChat("c")).toEqual(afterSteps(20))
    const contents = await contentsOf(sessions)
    expect(new Set(contents).size).toBe(contents.length)
  },
)

twoSavesTest(storages)
