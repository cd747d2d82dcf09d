import { readerTest } from "./readers.ts"

readerTest(200)
