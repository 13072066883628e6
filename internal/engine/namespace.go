package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/durationpb"

	enumspb "go.temporal.io/api/enums/v1"
	persistencespb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence"
	"go.temporal.io/server/common/persistence/serialization"
	persistencesql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/common/searchattribute/sadefs"
	sqliteschema "go.temporal.io/server/schema/sqlite"
)

// prepareNamespace creates the namespace or updates its retention and search
// attributes. It writes to the database before the server runs, because changes made
// through the API take effect only when the server's caches refresh.
func prepareNamespace(ctx context.Context, cfg *config.SQL, opts Options) error {
	db, err := persistencesql.NewSQLDB(sqlplugin.DbKindMain, cfg, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return err
	}
	defer db.Close()

	rows, err := db.SelectFromNamespace(ctx, sqlplugin.NamespaceFilter{Name: &opts.Namespace})
	if errors.Is(err, sql.ErrNoRows) {
		return createNamespace(cfg, opts)
	}
	if err != nil {
		return err
	}
	return updateNamespace(ctx, db, rows[0], opts)
}

func createNamespace(cfg *config.SQL, opts Options) error {
	namespace, err := sqliteschema.NewNamespaceConfig(clusterName, opts.Namespace, false, nil)
	if err != nil {
		return err
	}
	if _, err := configure(namespace.Detail, opts); err != nil {
		return err
	}
	return sqliteschema.CreateNamespaces(cfg, namespace)
}

func updateNamespace(ctx context.Context, db sqlplugin.DB, row sqlplugin.NamespaceRow, opts Options) error {
	serializer := serialization.NewSerializer()
	detail, err := serializer.NamespaceDetailFromBlob(persistence.NewDataBlob(row.Data, row.DataEncoding))
	if err != nil {
		return err
	}
	changed, err := configure(detail, opts)
	if err != nil || !changed {
		return err
	}
	blob, err := serializer.NamespaceDetailToBlob(detail)
	if err != nil {
		return err
	}
	row.Data, row.DataEncoding = blob.GetData(), blob.GetEncodingType().String()
	_, err = db.UpdateNamespace(ctx, &row)
	return err
}

// configure applies opts to the namespace and reports whether anything changed.
func configure(detail *persistencespb.NamespaceDetail, opts Options) (bool, error) {
	conf := detail.GetConfig()
	changed := conf.GetRetention().AsDuration() != opts.Retention
	conf.Retention = durationpb.New(opts.Retention)
	if conf.CustomSearchAttributeAliases == nil {
		conf.CustomSearchAttributeAliases = map[string]string{}
	}
	aliases := conf.GetCustomSearchAttributeAliases()
	for _, name := range opts.SearchAttributes {
		if slices.Contains(slices.Collect(maps.Values(aliases)), name) {
			continue
		}
		field, ok := freeKeyword(aliases)
		if !ok {
			return false, fmt.Errorf("search attribute %s: all keyword columns are in use, by %v",
				name, slices.Sorted(maps.Values(aliases)))
		}
		aliases[field] = name
		changed = true
	}
	return changed, nil
}

// freeKeyword returns the first unused keyword column of the visibility table.
func freeKeyword(aliases map[string]string) (string, bool) {
	fields := sadefs.GetDBIndexSearchAttributes(nil).GetCustomSearchAttributes()
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if _, taken := aliases[field]; !taken && fields[field] == enumspb.INDEXED_VALUE_TYPE_KEYWORD {
			return field, true
		}
	}
	return "", false
}
