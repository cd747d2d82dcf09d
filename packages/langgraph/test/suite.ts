/** LangGraph's validation suite for checkpointers, with vitest's functions as the globals that it expects. */
import {
  type CheckpointSaverTestInitializer,
  deltaChannelHistoryTests,
  validate,
} from "@langchain/langgraph-checkpoint-validation"
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { SessionsSaver } from "@sessions/langgraph"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"

Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it })

/** All 726 cases on one kind of storage. `open` returns a storage of its own, which the suite closes. */
export function validationSuite(name: string, open: () => SessionStorage | Promise<SessionStorage>): void {
  const closings = new WeakMap<SessionsSaver, () => Promise<void>>()
  const initializer: CheckpointSaverTestInitializer<SessionsSaver> = {
    checkpointerName: `SessionsSaver on ${name}`,
    async createCheckpointer() {
      const sessions = createSessions({ storage: await open() })
      const saver = new SessionsSaver({ sessions })
      closings.set(saver, async () => {
        await saver.close()
        await sessions.close()
      })
      return saver
    },
    destroyCheckpointer: (saver) => closings.get(saver)?.(),
  }
  validate(initializer)
  deltaChannelHistoryTests(initializer)
}
