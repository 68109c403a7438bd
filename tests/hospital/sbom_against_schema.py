#!/usr/bin/env python3
"""Holds the document of `voxshard --sbom` against a JSON schema of what SPDX 2.3 requires, written from its clauses 6 to 11.

    python3 tests/hospital/sbom_against_schema.py build/release/bin/voxshard

python3-jsonschema is the judge. Each required member that the document has is then removed, and a value of each kind is made wrong:
a judge that sees nothing there would see nothing elsewhere. References between elements, which a schema does not follow, are
checked beside it. Exit 0: the document has all of it, 1: something is missing, 77: python3-jsonschema is missing.
"""
import copy
import json
import subprocess
import sys

try:
    import jsonschema
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

IDENTIFIER = "^SPDXRef-[A-Za-z0-9.-]+$"
LOCATION = r"^(NOASSERTION|NONE|((git|hg|svn|bzr)\+)?[a-z]+://\S+)$"
TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"
TEXT = {"type": "string", "minLength": 1}
PURPOSES = ["APPLICATION", "FRAMEWORK", "LIBRARY", "CONTAINER", "OPERATING-SYSTEM", "DEVICE", "FIRMWARE", "SOURCE", "ARCHIVE", "FILE",
            "INSTALL", "OTHER"]
RELATIONSHIPS = ["DESCRIBES", "DESCRIBED_BY", "CONTAINS", "CONTAINED_BY", "DEPENDS_ON", "DEPENDENCY_OF", "DYNAMIC_LINK", "STATIC_LINK",
                 "GENERATED_FROM", "GENERATES", "BUILD_TOOL_OF", "OTHER"]


def members(required, optional=None):
    return {"type": "object", "required": sorted(required), "properties": {**required, **(optional or {})}}


def form(pattern):
    return {"type": "string", "pattern": pattern}


SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    **members(
        {
            "spdxVersion": {"const": "SPDX-2.3"},                                    # 6.1
            "dataLicense": {"const": "CC0-1.0"},                                     # 6.2
            "SPDXID": {"const": "SPDXRef-DOCUMENT"},                                 # 6.3
            "name": TEXT,                                                            # 6.4
            "documentNamespace": form(r"^[a-z][a-z0-9+.-]*:[^#\s]+$"),               # 6.5: a URI without a fragment
            "creationInfo": members({                                                # 6.8, 6.9
                "creators": {"type": "array", "minItems": 1, "items": form("^(Tool|Person|Organization): .+")},
                "created": form(TIME)}),
            # Not required of every document, but of one that describes a program and its libraries:
            "packages": {"type": "array", "minItems": 2, "items": members(
                {"name": TEXT, "SPDXID": form(IDENTIFIER), "downloadLocation": form(LOCATION)},   # 7.1, 7.2, 7.7
                {"versionInfo": TEXT, "filesAnalyzed": {"type": "boolean"}, "licenseConcluded": TEXT, "licenseDeclared": TEXT,
                 "copyrightText": TEXT, "primaryPackagePurpose": {"enum": PURPOSES},
                 "externalRefs": {"type": "array", "items": members(                 # 7.21
                     {"referenceCategory": {"enum": ["SECURITY", "PACKAGE-MANAGER", "PERSISTENT-ID", "OTHER"]},
                      "referenceType": TEXT, "referenceLocator": form(r"^\S+$")})}})},
            "relationships": {"type": "array", "minItems": 1, "items": members(      # 11.1
                {"spdxElementId": form(IDENTIFIER), "relationshipType": {"enum": RELATIONSHIPS},
                 "relatedSpdxElement": form("^(NONE|NOASSERTION|SPDXRef-[A-Za-z0-9.-]+)$")})},
        },
        {"hasExtractedLicensingInfos": {"type": "array", "items": members(           # 10.1, 10.2
            {"licenseId": form("^LicenseRef-[A-Za-z0-9.-]+$"), "extractedText": TEXT})}}),
}


def problems(document):
    """What is wrong with a document: the judge's words and references to elements that are not there."""
    found = ["/".join(map(str, e.absolute_path)) + ": " + e.message[:200]
             for e in jsonschema.Draft7Validator(SCHEMA).iter_errors(document)]
    if found:
        return found
    elements = [document["SPDXID"]] + [package["SPDXID"] for package in document["packages"]]
    found += [f"{one} is the identifier of two elements" for one in set(elements) if elements.count(one) > 1]
    for relation in document["relationships"]:
        found += [f"{relation[end]} of a relationship is no element" for end in ("spdxElementId", "relatedSpdxElement")
                  if relation[end] not in elements]
    described = [r for r in document["relationships"] if r["relationshipType"] == "DESCRIBES" and r["spdxElementId"] == "SPDXRef-DOCUMENT"]
    if not described:
        found.append("nothing is described by the document")
    return found


def places(schema, value, path=()):
    """Paths of the required members that a document has; of lists those of the last item."""
    for name in schema.get("required", []):
        yield (*path, name)
    for name, part in schema.get("properties", {}).items():
        if name in value:
            yield from places(part, value[name], (*path, name))
    if schema.get("type") == "array" and value:
        at = max(range(len(value)), key=lambda i: len(value[i]) if isinstance(value[i], dict) else 0)
        yield from places(schema["items"], value[at], (*path, at))


def without(document, path):
    changed = copy.deepcopy(document)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return changed


def with_value(document, path, value):
    changed = copy.deepcopy(document)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return changed


WRONG = [(("spdxVersion",), "SPDX-2.2"), (("dataLicense",), "MIT"), (("SPDXID",), "SPDXRef-other"), (("name",), ""),
         (("documentNamespace",), "https://spdx.org/a#b"), (("creationInfo", "created"), "2026-11-26"), (("creationInfo", "creators"), []),
         (("packages", 1, "SPDXID"), "a b"), (("packages", 1, "downloadLocation"), "somewhere"), (("packages", 1, "name"), 5),
         (("relationships", 0, "relationshipType"), "LIKES"), (("relationships", 0, "relatedSpdxElement"), "SPDXRef-nowhere")]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    text = subprocess.run([sys.argv[1], "--sbom"], check=True, capture_output=True, text=True).stdout
    document = json.loads(text)
    found = problems(document)
    if not found:
        paths = list(places(SCHEMA, document))
        found = ["/".join(map(str, path)) + " was removed, and nobody sees it" for path in paths if not problems(without(document, path))]
        found += ["/".join(map(str, path)) + f" was made {value!r}, and nobody sees it" for path, value in WRONG
                  if not problems(with_value(document, path, value))]
    for problem in found:
        print("the bill of materials:", problem)
    if found:
        return 1
    print(f"the bill of materials has what SPDX 2.3 requires, of {len(document['packages'])} packages; {len(paths)} documents without a "
          f"member and {len(WRONG)} with a wrong value were refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
