import { createMemoryStorage } from "@sessions/memory"
import { validationSuite } from "./suite.ts"

validationSuite("memory", () => createMemoryStorage())
