import { createFileStorage } from "@sessions/fs"
import { newFolder } from "./folders.ts"
import { validationSuite } from "./suite.ts"

validationSuite("files", () => createFileStorage({ root: newFolder() }))
