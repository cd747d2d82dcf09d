import { openStorage } from "../../s3/test/open-storage.ts"
import { validationSuite } from "./suite.ts"

validationSuite("S3", () => openStorage().storage)
