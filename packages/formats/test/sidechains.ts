/** A file of Claude Code with many sidechains. */
import { expect, test } from "vitest"
import { cpuTime } from "../../core/test/cpu-time.ts"
import { eachRecord } from "../src/base/format.ts"
import { claudeCode } from "../src/claude-code/index.ts"
import { file, user } from "./claude-code-files.ts"

/** `limit`: of the CPU time, in milliseconds, far below what a search in every sidechain takes. */
export function sidechainsTest(count: number, limit: number): void {
  test(`${count.toLocaleString("en")} sidechains that are held at once take linear time`, async () => {
    const lines = Array.from({ length: count }, (_, n) => {
      const message = { id: `m${n}`, role: "assistant", content: "a" }
      return { ...user(n, count + n, ""), type: "assistant", isSidechain: true, message }
    })
    const start = cpuTime()
    // After each piece, so that a search in every sidechain ends soon.
    const check = (): void => expect(cpuTime() - start).toBeLessThan(limit)
    async function* main() {
      for (let at = 0; at < count; at += 1_000) {
        yield file(...lines.slice(at, at + 1_000)).text
        check()
      }
    }
    const types = new Map<string, number>()
    for await (const { type } of eachRecord(
      claudeCode.read({ main: main(), beside: () => undefined }, { note: () => undefined }),
    ))
      types.set(type, (types.get(type) ?? 0) + 1)
    expect(types.get("message")).toBe(count)
    check()
  })
}
