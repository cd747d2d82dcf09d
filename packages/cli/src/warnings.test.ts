import { expect, test, vi } from "vitest"
import { silenceSqliteWarning } from "./warnings.ts"

test("the warning that SQLite is experimental is left out, and others are printed", () => {
  const emitWarning = vi.fn<(warning: string | Error, ...details: readonly unknown[]) => void>()
  const emitter: Pick<NodeJS.Process, "emitWarning"> = { emitWarning }
  silenceSqliteWarning(emitter)
  emitter.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning")
  expect(emitWarning).not.toHaveBeenCalled()
  const others: readonly (string | Error)[] = ["Something else", new Error("SQLite is an experimental feature")]
  for (const warning of others) emitter.emitWarning(warning, "ExperimentalWarning")
  expect(emitWarning.mock.calls).toEqual(others.map((warning) => [warning, "ExperimentalWarning"]))
})
