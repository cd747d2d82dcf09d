import { expect, test } from "vitest"
import { nodeFiles } from "./disk/files.ts"
import { toLayout, toSessionPaths } from "./disk/layout.ts"
import { TEMPORARY } from "./disk/small-files.ts"
import { createNotifier } from "./notifier.ts"

test("what follows a change of the log is no notice: the metadata, and files that are about to be renamed", () => {
  let told = (_name: string | undefined): void => undefined
  const notifier = createNotifier({
    ...nodeFiles,
    watch(_path, changed) {
      told = changed
      return { close: () => undefined }
    },
  })
  let notices = 0
  notifier.subscribe(toSessionPaths(toLayout("/root"), "a"), () => void notices++)
  for (const name of ["metadata.json", `${TEMPORARY}0b6c9c1e-6f0a-4d6e-9a55-0d6f0c8f2d11`]) told(name)
  expect(notices).toBe(0)
  for (const name of ["session.jsonl", "session_part2.9.jsonl", "log.id", "a", ".tmp-", undefined]) told(name)
  expect(notices).toBe(6)
})
