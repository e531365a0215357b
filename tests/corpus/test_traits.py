"""What a path says about a file."""

import pytest

from karat.corpus.chunkers.grammars import language_of
from karat.corpus.files.traits import Trait, classify


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.py", "python"),
        ("a.pyi", "python"),
        ("src/lib.RS", "rust"),
        ("a.h", "cpp"),
        ("Makefile", "make"),
        ("deploy/Dockerfile", "dockerfile"),
        ("CMakeLists.txt", "cmake"),
        ("README", "text"),
        ("README.md", "markdown"),
        ("LICENSE.APACHE", "text"),
        ("archive.tar.gz", ""),
        (".bashrc", "bash"),
        (".py", ""),
        ("py", ""),
        ("", ""),
    ],
)
def test_the_language_comes_from_the_name(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py",
        "src/__tests__/a.js",
        "pkg/server_test.go",
        "test_a.py",
        "conftest.py",
        "web/button.spec.ts",
        "web/button.test.tsx",
        "src/main/FooTest.java",
        "src/TestFoo.java",
        "flask/testsuite/basic.py",
        "spec/models/user_spec.rb",
        "util/testutil/cmp.go",
        "web/api/testhelpers/api.go",
        "tests/fixtures/page.md",
    ],
)
def test_tests_are_known(path: str) -> None:
    assert classify(path).is_test


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("src/werkzeug/test.py", False),
        ("werkzeug/test.py", False),
        ("src/flask/testing.py", False),
        ("numpy/testing/decorators.py", False),
        ("src/test_utils/core.py", False),
        ("src/test_utils/test.py", False),
        ("test.py", True),
        ("tests/test.py", True),
        ("shop/tests.py", True),
        ("src/werkzeug/test_client.py", True),
        ("testing/run.py", True),
        ("src/testing/run.py", True),
        ("numpy/testing/tests/utils.py", True),
        ("test_utils/core.py", True),
        ("src/test-utils/render.js", True),
        ("web/test.ts", True),
    ],
)
def test_what_users_test_with_is_no_test(path: str, is_test: bool) -> None:
    assert classify(path).is_test == is_test


@pytest.mark.parametrize(
    "path",
    [
        *("src/latest.py", "src/contest.go", "lib/attest.rs", "src/Latest.java", "inspect.py"),
        *("runtime/compiler/zig_test.vim", "cmake/RunTests.cmake"),
        *("crates/core/flags/doc/help.rs", "src/api/deps/session.py", "deps/update.py"),
    ],
)
def test_words_that_end_like_a_test_are_none(path: str) -> None:
    assert classify(path).is_source


@pytest.mark.parametrize(
    ("path", "trait"),
    [
        ("Cargo.lock", Trait.LOCK),
        ("web/package-lock.json", Trait.LOCK),
        ("go.sum", Trait.LOCK),
        ("uv.lock", Trait.LOCK),
        ("vendor/x/y.go", Trait.VENDORED),
        ("a/node_modules/b/c.js", Trait.VENDORED),
        ("third_party/zlib/a.c", Trait.VENDORED),
        ("api/user_pb2.py", Trait.GENERATED),
        ("api/user.pb.go", Trait.GENERATED),
        ("src/__generated__/types.ts", Trait.GENERATED),
        ("pkg/zz_generated.deepcopy.go", Trait.GENERATED),
        ("static/app.min.js", Trait.MINIFIED),
        ("docs/conf.py", Trait.DOCS),
        ("CHANGELOG.md", Trait.DOCS),
        ("pyproject.toml", Trait.CONFIG),
        ("requirements-dev.txt", Trait.CONFIG),
    ],
)
def test_other_traits_are_known(path: str, trait: Trait) -> None:
    assert trait in classify(path).traits


@pytest.mark.parametrize(
    "path",
    [
        *("assets/index-BMoFnAfk.js", "src/api/static/assets/index-D3kf9_aZ.css"),
        *("dist/chunk-7XK3QW2A.js", "web/build/static/js/main.3f9a1b2c.chunk.js"),
        *("Static/app-0c1d2e3f.js", "build/vendor-C-x4Zq1B.js"),
    ],
)
def test_hashed_build_files_are_generated(path: str) -> None:
    assert classify(path).is_generated


@pytest.mark.parametrize(
    "path",
    [
        *("src/index-BMoFnAfk.js", "assets/index-BMoFnAfk.py", "static/js/my-DataView.js"),
        *("static/user-settings.js", "static/date-picker2.js", "assets/theme-20240101.css"),
        *("build/webpack-plugins1.js", "static/a-to-do-it.js", "assets/jquery-MyUIView.js"),
        *("static/part-Example1.js", "assets/es-VERSION2.js", "build/BMoFnAfk.js"),
        *("static/x-defaced.js", "build/api-acceeded.js", "static/map-my-foo-v2.js"),
    ],
)
def test_names_that_end_with_words_are_source(path: str) -> None:
    assert classify(path).is_source


@pytest.mark.parametrize(
    ("path", "traits"),
    [
        ("docs/testing/tests.rst", Trait.DOCS),
        ("docs/news.txt", Trait.DOCS),
        ("CHANGES.rst", Trait.DOCS | Trait.CHANGELOG),
        ("changelogs/0.2.x.md", Trait.DOCS | Trait.CHANGELOG),
        ("src/history.py", Trait.NONE),
        ("changelogs/build.py", Trait.NONE),
        ("crates/x/LICENSE-MIT", Trait.NONE),
        ("LICENSE.txt", Trait.DOCS | Trait.LICENSE),
        ("src/notice.py", Trait.NONE),
        ("docs/conf.py", Trait.DOCS),
        ("packages/x/docs/conf.py", Trait.DOCS),
        ("deps/lua/src/lapi.c", Trait.VENDORED),
        ("external/zlib/inflate.c", Trait.VENDORED),
    ],
)
def test_all_traits_of_a_path(path: str, traits: Trait) -> None:
    assert classify(path).traits == traits


def test_every_trait_has_its_question() -> None:
    file_class = classify("docs/vendor/test/generated/package-lock.json")
    assert file_class.is_docs
    assert file_class.is_vendored
    assert file_class.is_test
    assert file_class.is_generated
    assert file_class.is_lock
    assert file_class.is_config
    assert not file_class.is_source


def test_an_unknown_language_is_no_source() -> None:
    assert not classify("data.bin").is_source
