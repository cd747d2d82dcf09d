import { scenesTests } from "./scenes.ts"
import { storages } from "./storages.ts"

scenesTests(storages)
