import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { sharing, testFiles } from "../.tools/lib/test-files.mjs"
import { HANG_MS } from "./limits.ts"

/** Tests that take seconds are in `*.deep.test.ts`. They run with DEEP, or if an argument names one. */
const deep = process.env["DEEP"] !== undefined || process.argv.some((arg) => arg.includes(".deep"))

const conditions = ["source", "import", "module", "default"]

const include = [
  "packages/*/{src,test}/**/*.test.ts",
  "conformance/**/*.test.ts",
  "examples/**/*.test.ts",
  "benchmarks/src/**/*.test.ts",
  ".tools/**/*.test.mjs",
  ".tools/runtimes/linear/**/*.test.ts",
]
const shared = sharing(testFiles())

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: { conditions },
  // Without "module": that condition is for bundlers, and no runtime resolves it.
  ssr: { resolve: { conditions: ["node", ...conditions.filter((condition) => condition !== "module")] } },
  test: {
    exclude: ["**/node_modules/**", "**/dist/**", "**/*.browser.test.ts", ...(deep ? [] : ["**/*.deep.test.ts"])],
    setupFiles: [".config/seed.ts", ".config/cpu.ts"],
    // A package that these import has TypeScript under the condition "source", which Node does not load from node_modules.
    server: { deps: { inline: [/\/node_modules\/(?:ai|@ai-sdk\/[^/]+|eventsource-parser)\//] } },
    // Tests wait for the disk and for other processes half of their time.
    maxWorkers: 2 * availableParallelism(),
    projects: [
      { extends: true, test: { name: "isolated", include, exclude: shared } },
      // A process and its modules for each file would be half of the time of these.
      { extends: true, test: { name: "shared", include: shared, isolate: false } },
    ],
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    teardownTimeout: HANG_MS,
    expect: { poll: { timeout: HANG_MS } },
  },
})
