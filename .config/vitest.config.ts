import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { isDeep, sharing, testFiles } from "../.tools/lib/test-files.mjs"
import { deep } from "./deep.ts"
import { HANG_MS } from "./limits.ts"

const conditions = ["@sessions/source", "import", "module", "default"]

const files = testFiles().filter((file) => deep || !isDeep(file))
const shared = new Set(sharing(files))

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: { conditions },
  // Without "module": that condition is for bundlers, and no runtime resolves it.
  ssr: { resolve: { conditions: ["node", ...conditions.filter((condition) => condition !== "module")] } },
  test: {
    setupFiles: [".config/seed.ts", ".config/cpu.ts"],
    // Tests wait for the disk and for other processes half of their time.
    maxWorkers: 2 * availableParallelism(),
    projects: [
      { extends: true, test: { name: "isolated", include: files.filter((file) => !shared.has(file)) } },
      // A process and its modules for each file would be half of the time of these.
      { extends: true, test: { name: "shared", include: [...shared], isolate: false } },
    ],
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    teardownTimeout: HANG_MS,
    expect: { poll: { timeout: HANG_MS } },
  },
})
