import { expect, test } from "vitest"
import { chain, user } from "../../test/chain.ts"
import { HEADER } from "../../test/logs.ts"
import type { Header } from "../format/header.ts"
import { type InfoProjection, projectWhole, withTips } from "../info/projection.ts"
import { EntryLog } from "../log/entry-log.ts"
import { SessionState } from "./session-state.ts"

const slots = chain(user("a"), user("b"), user("c", { parentId: "e1" }), user("d"), user("e"))

/** Of the first lines of the log. */
function projected(lines: number, log = "log"): InfoProjection {
  return projectWhole({ header: HEADER, log: EntryLog.of(slots) }, log, lines)
}

/** A session that holds the log from a line on. */
function held(from: number, info: InfoProjection | undefined): SessionState {
  const log = EntryLog.of(slots.slice(from), from)
  const head = { next: slots.length, log: "log" }
  return new SessionState({
    header: HEADER as unknown as Header,
    log,
    head,
    leafId: "e5",
    info: () => info,
    bytes: 0,
    settled: 0,
  })
}

test("information that was read is continued with the lines since then", () => {
  const state = held(4, undefined)
  state.learn(projected(4))
  expect(state.projection).toMatchObject({ messageCount: 5, tips: { tips: [{ id: "e2" }, { id: "e5" }], current: 5 } })
})

test("information that the session has gets only the tips that were read", () => {
  const state = held(4, { ...withTips(projected(6), undefined, 0), messageCount: 50 })
  state.learn(projected(6))
  expect(state.projection).toMatchObject({ messageCount: 50, tips: { current: 5 } })
})

test("information of another log, or with a gap before the held lines, is not taken", () => {
  const state = held(4, undefined)
  state.learn(projected(6, "another"))
  state.learn(projected(2))
  expect(state.projection).toBeUndefined()
})
