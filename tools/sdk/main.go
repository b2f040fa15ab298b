// Command sdk generates SDKs and examples in other languages from schema.json:
//
//	sdk check SCHEMA                    checks whether the schema is valid
//	sdk package SCHEMA FOLDER LANGUAGE  writes the SDK of each language to FOLDER/LANGUAGE
//	sdk examples SCHEMA                 converts the YAML programs on standard input, a map by name
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/blang/semver"
	"github.com/hashicorp/hcl/v2"
	dotnet "github.com/pulumi/pulumi-dotnet/pulumi-language-dotnet/v3/codegen"
	"github.com/pulumi/pulumi-java/pkg/codegen/java"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml"
	yaml "github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/codegen"
	gogen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/pcl"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

const tool = "pulumi-recommender"

type files = map[string][]byte

// loader returns the one package whose schema was read.
type loader struct{ pkg *schema.Package }

func (l loader) LoadPackage(name string, _ *semver.Version) (*schema.Package, error) {
	switch name {
	case l.pkg.Name:
		return l.pkg, nil
	case "pulumi":
		return schema.DefaultPulumiPackage, nil
	}
	return nil, fmt.Errorf("there is no package %s here", name)
}

func (l loader) LoadPackageV2(_ context.Context, of *schema.PackageDescriptor) (*schema.Package, error) {
	return l.LoadPackage(of.Name, of.Version)
}

func (l loader) LoadPackageReference(name string, _ *semver.Version) (schema.PackageReference, error) {
	pkg, err := l.LoadPackage(name, nil)
	if err != nil {
		return nil, err
	}
	return pkg.Reference(), nil
}

func (l loader) LoadPackageReferenceV2(
	_ context.Context, of *schema.PackageDescriptor,
) (schema.PackageReference, error) {
	return l.LoadPackageReference(of.Name, of.Version)
}

// generate returns the files of the SDK of a language.
func generate(language string, pkg *schema.Package) (files, error) {
	l := loader{pkg}
	switch language {
	case "python":
		return python.GeneratePackage(tool, pkg, nil, l)
	case "go":
		return gogen.GeneratePackage(tool, pkg, nil)
	case "dotnet":
		// The generator downloads a logo.
		logo := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
			_ = png.Encode(answer, image.NewGray(image.Rect(0, 0, 64, 64)))
		}))
		defer logo.Close()
		pkg.LogoURL = logo.URL
		return dotnet.GeneratePackage(tool, pkg, nil, nil)
	case "java":
		return java.GeneratePackage(tool, pkg, nil, nil, false, false)
	case "nodejs":
		return nodejs.GeneratePackage(tool, pkg, nil, nil, false, l)
	}
	return nil, fmt.Errorf("%s: expected python, go, dotnet, java or nodejs", language)
}

// bind reads a schema and reports its errors.
func bind(file string) (*schema.Package, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	pkg, diagnostics, err := schema.BindSpec(spec, nil, schema.ValidationOptions{})
	if err != nil {
		return nil, err
	}
	if len(diagnostics) > 0 {
		return nil, fmt.Errorf("%s: %w", file, diagnostics)
	}
	return pkg, nil
}

func writePackage(file, folder string, languages []string) error {
	for _, language := range languages {
		// A generator modifies the package, so each generator gets its own copy.
		pkg, err := bind(file)
		if err != nil {
			return err
		}
		made, err := generate(language, pkg)
		if err != nil {
			return fmt.Errorf("%s: %w", language, err)
		}
		for name, text := range made {
			path := filepath.Join(folder, language, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

type programGenerator func(*pcl.Program) (files, hcl.Diagnostics, error)

var programs = map[string]programGenerator{
	"typescript": nodejs.GenerateProgram,
	"python":     python.GenerateProgram,
	"go":         gogen.GenerateProgram,
	"csharp":     dotnet.GenerateProgram,
	"java":       java.GenerateProgram,
}

// convert translates a YAML program into each language.
func convert(name, text string, pkg *schema.Package) (map[string]string, error) {
	converted := map[string]string{}
	for language, generate := range programs {
		template, diagnostics, err := pulumiyaml.LoadYAMLBytes(name, []byte(text))
		if err != nil || diagnostics.HasErrors() {
			return nil, fmt.Errorf("%s: %w %v", name, err, diagnostics)
		}
		program, problems, err := yaml.EjectProgram(template, loader{pkg})
		if err != nil || problems.HasErrors() {
			return nil, fmt.Errorf("%s: %w %v", name, err, problems)
		}
		made, problems, err := generate(program)
		if err != nil || problems.HasErrors() {
			return nil, fmt.Errorf("%s in %s: %w %v", name, language, err, problems)
		}
		if len(made) != 1 {
			return nil, fmt.Errorf("%s in %s: expected one file, got %d", name, language, len(made))
		}
		for _, text := range made {
			converted[language] = string(text)
		}
	}
	return converted, nil
}

func writeExamples(pkg *schema.Package) error {
	var given map[string]string
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	converted := map[string]map[string]string{}
	for name, text := range given {
		programs, err := convert(name, text, pkg)
		if err != nil {
			return err
		}
		converted[name] = programs
	}
	return json.NewEncoder(os.Stdout).Encode(converted)
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: sdk check|package|examples SCHEMA …")
	}
	pkg, err := bind(args[1])
	switch {
	case err != nil:
		return err
	case args[0] == "check":
		return nil
	case args[0] == "examples":
		return writeExamples(pkg)
	case args[0] == "package" && len(args) > 3:
		return writePackage(args[1], args[2], args[3:])
	}
	return fmt.Errorf("usage: sdk check|package|examples SCHEMA …")
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
