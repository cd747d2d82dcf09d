import { modelTest } from "./model.ts"

modelTest("postgres")
