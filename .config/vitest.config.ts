import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const conditions = ["source", "import", "module", "default"]

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions: ["node", ...conditions] } },
  test: {
    include: [
      "packages/*/{src,test}/**/*.test.ts",
      "conformance/**/*.test.ts",
      "examples/**/*.test.ts",
      ".tools/**/*.test.mjs",
    ],
    exclude: ["**/node_modules/**", "**/dist/**", "**/*.browser.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
