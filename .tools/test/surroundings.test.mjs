/** What is kept on disk by any package meets the same failures of the disk with the same codes, and can be closed after each. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createFileStorage } from "../../packages/fs/src/index.ts"
import { createSqliteHistory } from "../../packages/history/src/sqlite/index.ts"
import { createMemoryStorage } from "../../packages/memory/src/index.ts"
import { createFolderMemory } from "../../packages/recall/src/node/index.ts"
import { createSearch } from "../../packages/search/src/index.ts"
import { createSqliteIndex } from "../../packages/search/src/sqlite/index.ts"
import { createSqliteStorage } from "../../packages/sqlite/src/index.ts"
import { afterAll, expect, test } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "sessions-surroundings-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** `use` writes at a place below `at`; `close` resolves, whatever has happened. */
const KEEPERS = {
  files: (at) => storageAs(createFileStorage({ root: join(at, "s") })),
  sqlite: (at) => storageAs(createSqliteStorage({ path: join(at, "s.db") })),
  search(at) {
    const search = createSearch({ storage: createMemoryStorage(), index: createSqliteIndex({ folder: join(at, "i") }) })
    return { use: () => search.catchUp(), close: () => search.close() }
  },
  history(at) {
    const history = createSqliteHistory({ path: join(at, "h", "history.db") })
    return { use: () => history.search("word"), close: () => history.close() }
  },
  "memory files": (at) => ({
    use: () => createFolderMemory(join(at, "m")).of("scope").write("a.md", "text", { expect: null }),
    close: async () => undefined,
  }),
}

function storageAs(storage) {
  return {
    use: () => storage.append("a", ["x"], { expect: 0 }),
    close: () => storage[Symbol.asyncDispose](),
  }
}

test.each(Object.keys(KEEPERS))(
  "%s: a file in the place of a folder is `misconfigured`, each time, and closing works",
  async (name) => {
    const at = join(folder, `file-${name}`)
    writeFileSync(at, "")
    const { use, close } = KEEPERS[name](at)
    for (let again = 0; again < 2; again++) await expect(use()).rejects.toMatchObject({ code: "misconfigured" })
    await close()
  },
)
